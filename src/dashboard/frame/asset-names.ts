/** The files that browsers load. */

/**
 * `page` is loaded by every page, `chart` by those with charts, `live` by those that show something live, and `passkeys` by those that ask for
 * passkeys.
 */
export const ASSETS = ['page.css', 'page.js', 'chart.css', 'chart.js', 'live.js', 'passkeys.js'] as const;
export type AssetName = (typeof ASSETS)[number];
