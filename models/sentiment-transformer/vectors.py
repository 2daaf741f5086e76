"""Writes test/vectors/sentiment-transformer.json: texts with their ids and the float model's scores.

    python vectors.py
"""

import json
import os

from reference import Classifier

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(HERE, "../../test/vectors/sentiment-transformer.json")
TEXTS = [
    "Profit beats forecasts, shares jump",
    "Profit falls short of forecasts and the dividend is cut",
    "The annual meeting takes place on Thursday",
    "Chip maker raises its outlook for the third time this year",
    "Regulator opens an inquiry into the bank's accounts",
    "$TSLA +7.4% premarket after deliveries top estimates",
    "$XYZ -12% on a downgrade to Sell",
    "Oil steady as traders wait for inventories",
    "BREAKING: airline files for bankruptcy protection",
    "Analysts see room for the shares to climb, price target up to $210 from $180",
    "Sales were flat, margins narrower, guidance withdrawn",
    "Here's what to watch when markets open",
    "Größte Übernahme der Branche — “historic”, says the board",
    "日本銀行は金利を引き上げた",
    "résumé naïve Ångström ΣΊΣΥΦΟΣ",
    "a" * 60,
    "one two  three\tfour\nfive",
    "",
    "Gold climbs to a record https://example.org/a?b=1",
]


def main():
    model = Classifier(HERE)
    ids = model.ids(TEXTS)
    vectors = [{"text": text, "ids": own, "scores": [round(float(x), 4) for x in scores]}
               for text, own, scores in zip(TEXTS, ids, model.logits(ids), strict=True)]
    with open(TARGET, "w", encoding="utf-8") as file:
        file.write(json.dumps(vectors, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
