/** The section of the configuration about logging in to the dashboard at a provider of identities. */
import { Type } from 'typebox';
import { section } from './fields.ts';

/** Maximum length of the provider's name on the page. Our own limit. */
const MAX_NAME_CHARACTERS = 60;

export const openIdSection = section(
  'Logging in to the dashboard at a provider of OpenID Connect. It lets in people who exist here, and people with an open invitation, by an address that the provider has verified.',
  {
    issuer: Type.String({
      pattern: '^$|^https?://[^\\s?#]+$',
      default: '',
      description:
        'Issuer of the provider, such as https://login.example.com. Its settings are read from /.well-known/openid-configuration below it. Empty: people log in here alone. A provider in a private network needs outbound.allowTargets.',
    }),
    clientId: Type.String({
      default: '',
      description: 'Client id that the provider has given this installation. Required with an issuer.',
    }),
    clientSecretFile: Type.String({
      default: '',
      description:
        'File with the client secret. Required with an issuer. A relative path starts at the folder of this file.',
    }),
    name: Type.String({
      maxLength: MAX_NAME_CHARACTERS,
      default: '',
      description: 'Name of the provider on the page to log in. Empty: the host of the issuer.',
    }),
  },
);
