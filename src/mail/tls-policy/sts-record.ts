/** Reads the TXT record that says that a domain has a policy of MTA-STS, and which version of it (RFC 8461 section 3.1). */

const RECORD = /^v=STSv1[ \t]*;/;
const ID = /^id=([A-Za-z0-9]{1,32})$/;
const EXTENSION = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}=[!-:<-~]+$/;

/**
 * Returns the id of the policy; undefined when the records of `_mta-sts.<domain>` name none. More than one record of this kind, or a
 * malformed one, is no policy.
 */
export function readStsId(records: readonly string[]): string | undefined {
  const [record, another] = records.filter((text) => RECORD.test(text));
  if (record === undefined || another !== undefined) return undefined;
  const [, ...fields] = record.split(';').map((field) => field.trim());
  if (fields.at(-1) === '') fields.pop();
  if (!fields.every((field) => EXTENSION.test(field))) return undefined;
  // The first of two equal fields counts (RFC 8461 section 3.2).
  const id = fields.find((field) => field.startsWith('id='));
  return ID.exec(id ?? '')?.[1];
}
