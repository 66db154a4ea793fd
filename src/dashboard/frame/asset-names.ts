/** The files that browsers load. */

/** `page` is loaded by every page, `chart` by those with charts. */
export const ASSETS = ['page.css', 'page.js', 'chart.css', 'chart.js'] as const;
export type AssetName = (typeof ASSETS)[number];
