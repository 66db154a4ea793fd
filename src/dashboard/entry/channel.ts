/** Checks of every login: the connection that it comes by, and the page that it leads to. */
import type { PublicContext } from '../page.ts';
import { TranslatedRefusal } from '../texts/refusal.ts';

/**
 * Refuses passwords over plain HTTP from elsewhere.
 * @throws AppError restricted_api_key
 */
export function requireChannel({ isPlain, texts }: Pick<PublicContext, 'isPlain' | 'texts'>): void {
  if (isPlain) throw new TranslatedRefusal('restricted_api_key', texts.login.plain);
}

/** Returns the page that somebody wanted before logging in. A path that could lead to another host is none of ours. */
export function targetOf({ query }: PublicContext): string | undefined {
  const to = query.get('to') ?? '';
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(to) && !to.includes('\\') ? to : undefined;
}
