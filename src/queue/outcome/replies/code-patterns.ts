/** The patterns by which rows of tables name reply codes and enhanced status codes. */

/** Returns the patterns that a reply code meets: `421` and `4xx`. */
export function codePatternsOf(code: number | null): readonly string[] {
  return code === null ? [] : [String(code), `${Math.floor(code / 100)}xx`];
}

/** Returns the patterns that an enhanced status code meets: `5.1.1`, `x.1.1`, `5.1.x` and so on. */
export function enhancedPatternsOf(enhanced: string | null): readonly string[] {
  if (enhanced === null) return [];
  const [kind = '', subject = '', detail = ''] = enhanced.split('.');
  return [
    ...[enhanced, `x.${subject}.${detail}`, `${kind}.${subject}.x`, `x.${subject}.x`, `${kind}.x.x`],
    `x.x.${detail}`,
  ];
}
