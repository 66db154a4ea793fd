/** The links in mail: how they are written, and what they mean when somebody follows them. */
import type { App } from '../app.ts';
import { type ConfirmationToken, openConfirmation, sealConfirmation } from './confirm-token.ts';
import { linkKeysOf } from './keys.ts';
import { linksOrigin } from './origin.ts';
import { openSubscription, type Subscription, sealSubscription } from './unsubscribe-token.ts';

/** First part of the path of an unsubscribe link. */
export const UNSUBSCRIBE_PATH = '/u';

/** First part of the path of a link in confirmation mail. */
export const CONFIRM_PATH = '/confirm';

export type Links = {
  /** Host names of the public pages, in lower case and without a port. */
  hostNames: ReadonlySet<string>;
  /** Returns the link by which a reader unsubscribes. The same subscription always has the same link. */
  unsubscribeUrl(subscription: Subscription): string;
  /** Returns what a token of such a link stands for, or undefined when it is not one of ours. */
  openUnsubscribeToken(token: string): Subscription | undefined;
  /** Returns the link by which a reader confirms a subscription. */
  confirmUrl(confirmation: ConfirmationToken): string;
  /** Returns what a token of such a link confirms, or undefined when it is not one of ours. */
  openConfirmToken(token: string): ConfirmationToken | undefined;
};

/** Returns the links of an installation. */
export function createLinks({ config, sealer }: Pick<App, 'config' | 'sealer'>): Links {
  const keys = linkKeysOf(sealer.key.export());
  const origin = linksOrigin(config);
  return {
    // Links that were written before `links.url` was set still lead to the standard name.
    hostNames: new Set([new URL(origin).hostname, `track.${config.hostname.toLowerCase()}`]),
    unsubscribeUrl: (subscription) => `${origin}${UNSUBSCRIBE_PATH}/${sealSubscription(keys, subscription)}`,
    openUnsubscribeToken: (token) => openSubscription(keys, token),
    confirmUrl: (confirmation) => `${origin}${CONFIRM_PATH}/${sealConfirmation(keys, confirmation)}`,
    openConfirmToken: (token) => openConfirmation(keys, token),
  };
}
