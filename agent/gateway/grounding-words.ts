/** Words that carry no information of their own: a reply may use them without a result that holds them. Nothing that
 *  can be an answer (`yes`, `no`, `one`), that compares, bounds or doubts (`above`, `than`, `may`), or that says when. */
const TEXT = `
a an the this that these those it its they them their there here i me my you your we our us
is are was were be been being am has have had having do does did
and or as while whose which who whom what where how s ve re
of to in on at by for from with via through into also both respectively
according based using used uses use
tool tools api call calls called calling function server source sources
model models ran run runs running query queried queries asked question request requested
result results return returned returns returning output outputs
report reported reports reporting provide provided provides providing give given gives gave giving
show showed shown shows showing say said says saying tell told tells state stated states
indicate indicated indicates list listed lists contain contained contains read reads
answer answers answered answering respond responded responds response responses reply replies replied
data value values number numbers figure figures field fields key keys item items entry entries
information info detail details name named names label labelled
find found get got gets fetch fetched retrieve retrieved retrieves obtain obtained received receive receives
compute computed computes calculate calculated calculates produce produced produces yield yielded yields
come comes came back stands stand equal equals following follow follows namely
look looked check checked see seen successfully
current currently please thanks thank let know
`;

export const PLAIN_WORDS: ReadonlySet<string> = new Set(TEXT.trim().split(/\s+/));

/** Words that turn, bound or doubt what follows them: a reply has them only where a result has them before the same
 *  word. A description may say `not`; that allows nobody to say that a result is not. */
const TURNING = `
no not non never none neither nor nothing nobody without except unless if cannot false untrue wrong incorrect
less fewer more greater higher lower larger smaller bigger above below under over beyond exceeds exceed than minus plus
negative positive least most max min maximum minimum up down almost nearly approximately approx roughly around about only
maybe perhaps possibly probably likely unlikely might may can could would should must will other another but
`;
export const TURNING_WORDS: ReadonlySet<string> = new Set(TURNING.trim().split(/\s+/));

/** Words and letters that scale or measure the number before them: only where a result has them behind this number. */
const SCALING = `
hundred hundreds thousand thousands million millions billion billions trillion trillions dozen dozens half double
twice times percent percentage permille bps fold k m b t g e x bn mn mm tn kilo mega giga milli micro
`;
export const SCALING_WORDS: ReadonlySet<string> = new Set(SCALING.trim().split(/\s+/));
