/** Words that carry no information of their own: a reply may use them without a result that holds them. No `yes`,
 *  `no`, `more` or `one` among them: those can be an answer. */
const TEXT = `
a an the this that these those it its they them their there here i me my you your we our us
is are was were be been being am has have had do does did will would can could may might must should shall
and or but so yet if then else than as while when whenever where which who whom whose what how
of to in on at by for from with without within into onto over under between among through during before after
about above below against up down out off per via some each every other another same such own just also again
according tool tools call called calls result results return returned returns report reported reports
provide provided provides give given gives show showed shown shows say said says state stated states
data value values answer answers response following follow follows found find using use used based
currently current now please s t
`;

export const PLAIN_WORDS: ReadonlySet<string> = new Set(TEXT.trim().split(/\s+/));
