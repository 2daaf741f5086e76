const COUNT = new Intl.NumberFormat("en");

/** `1 claim`, `1,200 claims`. @param many the plural, where it is not the singular with an s */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${COUNT.format(count)} ${count === 1 ? one : many}`;
