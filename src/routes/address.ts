/** Reads the address of a route: one address, or every address of a domain that no other route names. */
import { addressKey, explainRefusal, parseMailbox } from '../mail/address.ts';
import { explainLocalPart } from '../mailboxes/local-part.ts';
import { invalid } from '../system/errors.ts';

export type RouteAddress = {
  /** The address as its `addressKey`; `*@<domain>` is the catch-all. */
  address: string;
  /** The domain in A-labels and lower case, which is the form in which domains are stored. */
  domain: string;
};

/**
 * Returns the address of a route.
 * @throws AppError validation_error naming `param`
 */
export function readRouteAddress(param: string, text: string): RouteAddress {
  // A display name, and the angle brackets that follow it, are not part of an address for incoming mail.
  const mailbox = text.endsWith('>') ? undefined : parseMailbox(text);
  if (!mailbox) {
    const rule =
      explainRefusal(text) ??
      'must be one address such as sales@example.com, or *@example.com for all others';
    throw invalid(param, `\`${param}\` ${rule}`);
  }
  const { localPart, address, domain } = mailbox;
  // An asterisk is legal in an address (RFC 5322 section 3.2.3). Here it is probably meant as a pattern, which would never
  // match.
  if (localPart.includes('*') && localPart !== '*') {
    throw invalid(param, `\`${param}\`: * stands for the whole local part, as in *@${domain}`);
  }
  const key = addressKey(address);
  const rule = explainLocalPart(key.slice(0, -`@${domain}`.length));
  if (rule !== undefined) throw invalid(param, `\`${param}\` ${rule}`);
  return { address: key, domain };
}
