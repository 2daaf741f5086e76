"""Reads a headline, asks the sentiment model, and decides only once its output is final.

Settings come from the environment: ASSAY_RPC_URL, ASSAY_DEPLOYMENT, ASSAY_KEY, ASSAY_MODEL.
"""

import os
import sys

import assay
from eth_account import Account
from web3 import HTTPProvider, Web3

DECISIONS = {0: "sell", 1: "hold", 2: "buy"}


def main(headline: str) -> None:
    w3 = Web3(HTTPProvider(os.environ["ASSAY_RPC_URL"]))
    deployment = assay.read_deployment(os.environ["ASSAY_DEPLOYMENT"])
    chain = assay.connect(w3, deployment, Account.from_key(os.environ["ASSAY_KEY"]))
    model = chain.open_model(os.environ["ASSAY_MODEL"])
    asked = chain.request(model, {"text": headline}, fee=10**16)
    print(f"request {asked.request_id}")
    final = chain.wait(asked, timeout=600)
    print(f"final in the lane {final.lane.name} at {final.final_at}: {DECISIONS[final.values['label']]}")
    with open("receipt.json", "w") as file:
        file.write(assay.render_receipt(chain.receipt(final)))


if __name__ == "__main__":
    main(sys.argv[1])
