/**
 * The header fields by which a mailbox provider sends complaints to us without a registration (RFC 9477).
 *
 * The domain of the address is `bounce.<domain of From>`, so that the signature of the sender's own domain covers it (RFC
 * 9477 section 3.1.2). Mail without a return path of its own has no such fields: an address at our own host would need a second
 * signature by a key of that host (section 3.1.3).
 */
import type { MessageRow, RecipientRow } from '../../db/tables.ts';
import { structuredField } from '../../mail/message/headers.ts';
import { complaintLocalPart, type ReturnAddressKey } from '../return-path.ts';

/** Header fields for complaints are written for these columns of a message. */
type ComplaintMail = Pick<MessageRow, 'id' | 'kind' | 'complaintHost'>;

/**
 * Returns `CFBL-Address` and `CFBL-Feedback-ID`, each with its CRLF, or '' when the message has no domain for them. Every
 * attempt gets the same fields. In marketing mail, the address names the one reader, because reports hide addresses.
 */
export function complaintFields(
  key: ReturnAddressKey,
  { id: emailId, kind, complaintHost }: ComplaintMail,
  recipients: readonly Pick<RecipientRow, 'position'>[],
): string {
  if (complaintHost === null) return '';
  const position = kind === 'broadcast' ? recipients[0]?.position : undefined;
  const token = complaintLocalPart(key, { emailId, position });
  // The identifier is authenticated, as RFC 9477 section 3.3 recommends.
  return (
    structuredField('CFBL-Address', `${token}@${complaintHost}; report=arf`) +
    structuredField('CFBL-Feedback-ID', token)
  );
}
