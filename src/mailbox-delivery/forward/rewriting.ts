/** The key by which this installation rewrites the senders of mail that it forwards (mail/srs.ts). */
import { hkdfSync } from 'node:crypto';
import type { App } from '../../app.ts';
import { createSenderRewriting, type SenderRewriting } from '../../mail/srs.ts';

const KEY_BYTES = 32;

const rewritings = new WeakMap<App['sealer'], SenderRewriting>();

/** Returns the rewriting of an installation. Its key is derived from the master key, so that a backup keeps addresses valid. */
export function senderRewritingOf({ sealer }: Pick<App, 'sealer'>): SenderRewriting {
  const known = rewritings.get(sealer);
  if (known) return known;
  const key = Buffer.from(
    hkdfSync('sha256', sealer.key.export(), '', 'inbound: rewritten senders', KEY_BYTES),
  );
  const rewriting = createSenderRewriting(key);
  rewritings.set(sealer, rewriting);
  return rewriting;
}
