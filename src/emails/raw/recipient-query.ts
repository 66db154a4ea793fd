/** The query of the operations that show an email as one of its recipients gets it. */
import { type Static, Type } from 'typebox';

/** Maximum length of the address of a recipient: that of a path with its angle brackets (RFC 5321 section 4.5.3.1.3), and room for a name. */
const MAX_ADDRESS_CHARACTERS = 320;

export const recipientQuery = Type.Object({
  recipient: Type.Optional(
    Type.String({
      maxLength: MAX_ADDRESS_CHARACTERS,
      description:
        'Address of the recipient whose copy is shown; the first one by default. Copies of marketing mail differ in their links to unsubscribe.',
    }),
  ),
});
export type RecipientQuery = Static<typeof recipientQuery>;
