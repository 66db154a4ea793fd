/** The paths of pages. */
import type { Area, PageDefinition } from './page.ts';

/** Paths of the areas. */
export const PREFIXES: Record<Area, string> = {
  public: '',
  account: '/account',
  tenant: '/t/:tenant/:mode',
  operator: '/operator',
  mailbox: '/mailbox',
};

/** Returns the pattern of a page's path. */
export function routeOf({ area, path }: Pick<PageDefinition, 'area' | 'path'>): string {
  return `${PREFIXES[area]}${path}` || '/';
}
