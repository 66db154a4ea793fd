/** The sections of the configuration for DNS: resolvers, dynamic updates, and the built-in name server. */
import { Type } from 'typebox';
import { port, section } from './fields.ts';

/** Maximum number of addresses to listen on. */
const MAX_ADDRESSES = 16;
/** Maximum number of name servers of the zone. More do not fit into a small answer. */
const MAX_NAMES = 13;

/** Maximum number of trusted resolvers. Only three are asked. */
const MAX_TRUSTED = 16;
/** Maximum number of zones that are updated. */
const MAX_ZONES = 100;

export const dnsSection = section('DNS lookups and updates.', {
  servers: Type.Array(Type.String(), {
    default: [],
    description: 'Resolvers, such as 127.0.0.1 or 192.0.2.1:53. Without any, those of the machine are used.',
  }),
  trusted: Type.Array(Type.String(), {
    maxItems: MAX_TRUSTED,
    default: [],
    description:
      'Resolvers whose word is believed that DNSSEC proves an answer, because they validate and the way to them is safe. Those on 127.0.0.0/8 and ::1 always are. DANE is used only when every resolver is one of them.',
  }),
  signedName: Type.String({
    pattern: '^[a-z0-9_.-]{1,253}$',
    default: 'org',
    description:
      'A name in a signed zone. It is looked up to find out whether the resolvers validate, before any of them is believed.',
  }),
  update: section(
    'Dynamic updates (RFC 2136), which publish the records of the machine at your primary name server.',
    {
      server: Type.String({
        default: '',
        description:
          'Address of the primary, such as 192.0.2.53 or [2001:db8::53]:53. Empty: there are no updates. They need domains.addresses.',
      }),
      key: Type.String({
        default: '',
        description:
          'File with the TSIG key, as tsig-keygen of BIND or keymgr -t of Knot writes it. A relative path starts at the folder of this file.',
      }),
      zones: Type.Array(Type.String(), {
        maxItems: MAX_ZONES,
        default: [],
        description:
          'Zones of the primary that may be updated, such as example.com. Names outside are left alone.',
      }),
    },
  ),
});

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
