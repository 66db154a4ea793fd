/** What a route may be for: one address, or every address of a domain that no route names. */
import { addressKey, explainRefusal, parseMailbox } from '../../mail/address.ts';
import { invalid } from '../../system/errors.ts';

export type RouteAddress = {
  /** Its `addressKey`; `*@<domain>` is the catch-all. */
  address: string;
  /** A-labels, lower case, as domains are named. */
  domain: string;
};

/** @throws AppError validation_error naming `param` */
export function readRouteAddress(param: string, text: string): RouteAddress {
  // A name, or the angle brackets that would follow one, say nothing of where mail comes to.
  const mailbox = text.endsWith('>') ? undefined : parseMailbox(text);
  if (!mailbox) {
    const rule =
      explainRefusal(text) ??
      'must be one address such as sales@example.com, or *@example.com for all others';
    throw invalid(param, `\`${param}\` ${rule}`);
  }
  const { localPart, address, domain } = mailbox;
  // Legal in an address (RFC 5322 3.2.3), but whoever writes it here means a pattern, and would wait for mail in vain.
  if (localPart.includes('*') && localPart !== '*') {
    throw invalid(param, `\`${param}\`: * stands for the whole local part, as in *@${domain}`);
  }
  return { address: addressKey(address), domain };
}

/** The domain as `readRouteAddress` names it. @throws AppError validation_error naming `param` */
export function readRouteDomain(param: string, text: string): string {
  const mailbox = parseMailbox(`a@${text}`);
  if (!mailbox || text.endsWith(' ')) {
    throw invalid(param, `\`${param}\` must be a domain such as example.com`);
  }
  return mailbox.domain;
}
