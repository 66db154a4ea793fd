/** The links in a post by which its receiver downloads files that are not in the body, and whole messages. */
import type { App } from '../../app.ts';
import type { ReceivedMessageRow } from '../../db/inbound-tables.ts';
import { type Download, openDownload, sealDownload } from '../../links/download-token.ts';
import { linkKeysOfInstallation } from '../../links/keys.ts';
import { apiOrigin } from '../../links/origin.ts';
import { DAY_MS } from '../../system/clock.ts';

/** Path of the downloads, which need no key. */
export const DOWNLOAD_PATH = '/inbound/downloads';

/** Time for which a link is valid, in milliseconds. */
const LINK_MS = DAY_MS;

export type DownloadLinks = {
  /** Returns the link to a file by its number, or to the whole message for 0. It is valid for 24 hours. */
  linkTo(messageId: ReceivedMessageRow['id'], file: number): string;
  /** Returns the meaning of a token, or undefined when it is not one of ours or has expired. */
  open(token: string): Download | undefined;
};

/** Returns the links of an installation. */
export function createDownloadLinks({
  config,
  sealer,
  clock,
}: Pick<App, 'config' | 'sealer' | 'clock'>): DownloadLinks {
  const keys = linkKeysOfInstallation(sealer.key);
  const origin = apiOrigin(config);
  return {
    linkTo: (messageId, file) =>
      `${origin}${DOWNLOAD_PATH}/${sealDownload(keys, { messageId, file, expiresAt: clock.now() + LINK_MS })}`,
    open: (token) => openDownload(keys, token, clock.now()),
  };
}
