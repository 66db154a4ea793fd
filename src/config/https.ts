/** The section of the configuration for HTTPS. */
import { Type } from 'typebox';
import { listener, port } from './fields.ts';

export const httpsSection = listener(
  'The HTTP API, the public pages and the settings for mail programs, with TLS. Each host name serves its own content alone. Both ports open once there is a certificate that is not self-signed (tls.certificates, or acme).',
  { address: '::', port: 443 },
  {
    enabled: Type.Boolean({
      default: true,
      description:
        'Listens on both ports. False: a reverse proxy of your own has these ports, and forwards to the HTTP API.',
    }),
    redirectPort: port(
      80,
      'Second port, without TLS: it answers the challenges of certificate authorities, and leads everything else to HTTPS.',
    ),
    mtaSts: Type.Enum(['none', 'testing', 'enforce'], {
      default: 'testing',
      description:
        'Mode of the MTA-STS policies that mta-sts.<domain> serves (RFC 8461): testing, in which other servers report problems with TLS to this one; enforce, in which they deliver to this host alone and only with a valid certificate; or none.',
    }),
  },
);
