// Loaded into a daemon before anything else: its clock is wrong by CLOCK_OFFSET_MS, as on a machine without NTP.
const offset = Number(process.env.CLOCK_OFFSET_MS);
const RealDate = Date;
globalThis.Date = class Date extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + offset);
    else super(...parts);
  }
  static now() {
    return RealDate.now() + offset;
  }
};
