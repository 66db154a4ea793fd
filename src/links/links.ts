/** The links in mail: how they are written, and what they mean when somebody follows them. */
import type { App } from '../app.ts';
import { type ConfirmationToken, openConfirmation, sealConfirmation } from './confirm-token.ts';
import { linkKeysOfInstallation } from './keys.ts';
import { linksOrigin, pageHosts } from './origin.ts';
import {
  openTrackingToken,
  type TrackingTarget,
  type TrackingTokens,
  trackingTokens,
} from './tracking-token.ts';
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
  /** Returns the tokens of the tracked links and of the pixel of an email. */
  trackingTokens(emailId: string): TrackingTokens;
  /** Returns what such a token stands for, or undefined when it is not one of ours. */
  openTrackingToken(token: string): TrackingTarget | undefined;
};

/** Returns the links of an installation. */
export function createLinks({ config, sealer }: Pick<App, 'config' | 'sealer'>): Links {
  const keys = linkKeysOfInstallation(sealer.key);
  const origin = linksOrigin(config);
  return {
    hostNames: pageHosts(config),
    unsubscribeUrl: (subscription) => `${origin}${UNSUBSCRIBE_PATH}/${sealSubscription(keys, subscription)}`,
    openUnsubscribeToken: (token) => openSubscription(keys, token),
    confirmUrl: (confirmation) => `${origin}${CONFIRM_PATH}/${sealConfirmation(keys, confirmation)}`,
    openConfirmToken: (token) => openConfirmation(keys, token),
    trackingTokens: (emailId) => trackingTokens(keys, emailId),
    openTrackingToken: (token) => openTrackingToken(keys, token),
  };
}
