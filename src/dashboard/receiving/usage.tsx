/** How full a mailbox is. */
import type { BaseContext } from '../page.ts';

type Used = { usedBytes: number; quotaBytes: number };

/** Share of the quota from which on a mailbox is nearly full. */
const NEARLY_FULL = 0.9;

/** The used part of the quota, as a text and as a bar. */
export function Usage({
  context,
  mailbox: { usedBytes, quotaBytes },
}: {
  context: BaseContext;
  mailbox: Used;
}) {
  const { formats, texts } = context;
  const text = texts.mailboxes.used(formats.bytes(usedBytes), formats.bytes(quotaBytes));
  return (
    <>
      <meter
        min={0}
        max={quotaBytes}
        high={quotaBytes * NEARLY_FULL}
        value={usedBytes}
        aria-label={texts.mailboxes.usage}
      />{' '}
      {text}
    </>
  );
}
