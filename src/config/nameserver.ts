/** The section of the configuration for the built-in name server. */
import { Type } from 'typebox';
import { port, section } from './fields.ts';

/** Maximum number of addresses to listen on. */
const MAX_ADDRESSES = 16;
/** Maximum number of name servers of the zone. More do not fit into a small answer. */
const MAX_NAMES = 13;

export const nameserverSection = section(
  'The built-in name server, which answers for the zone of the hostname and all names below it, once the parent zone delegates it here.',
  {
    enabled: Type.Boolean({
      default: false,
      description: 'Answers DNS queries. It needs domains.addresses, since nobody else knows them then.',
    }),
    addresses: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: MAX_ADDRESSES,
      default: ['::'],
      description:
        'Addresses to listen on, UDP and TCP. Where another resolver of this machine has port 53 of 127.0.0.53, name the public addresses.',
    }),
    port: port(53, 'Port to listen on; 0 takes any free one.'),
    names: Type.Array(Type.String(), {
      maxItems: MAX_NAMES,
      default: [],
      description:
        'Host names of the name servers of the zone: this one, and any secondary of yours. Empty: ns.<hostname>.',
    }),
  },
);
