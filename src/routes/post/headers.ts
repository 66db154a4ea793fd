/** Shows the header of a received message. */
import type { ReceivedMessageRow } from '../../db/inbound-tables.ts';
import { type HeaderField, readHeaderFields } from '../../mail/message/parse/header-fields.ts';

/** Returns the fields that were added when the message arrived. */
export function traceFields({ trace }: Pick<ReceivedMessageRow, 'trace'>): HeaderField[] {
  return readHeaderFields(Buffer.from(trace));
}

/**
 * Returns the values by name. Names are in lower case, and the values of repeated names are joined by a line feed. The
 * object has no prototype, because a field may be named like a property of every object.
 */
export function headersObject(fields: readonly HeaderField[]): Record<string, string> {
  const values = new Map<string, string[]>();
  for (const { name, text } of fields) {
    const key = name.toLowerCase();
    const known = values.get(key);
    if (known) known.push(text);
    else values.set(key, [text]);
  }
  const headers: Record<string, string> = Object.create(null);
  for (const [name, texts] of values) {
    Object.defineProperty(headers, name, {
      value: texts.join('\n'),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return headers;
}
