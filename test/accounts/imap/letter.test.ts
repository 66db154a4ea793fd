/** Accounts are held to the letter. */
import { holdToTheLetter } from '../../mail/imap/letter.ts';
import { holdCatenationToTheLetter } from '../../mail/imap/letter-catenate.ts';
import { holdContextsToTheLetter } from '../../mail/imap/letter-contexts.ts';
import { holdExtensionsToTheLetter } from '../../mail/imap/letter-extensions.ts';
import { holdMetadataToTheLetter } from '../../mail/imap/letter-metadata.ts';
import { holdNotifyToTheLetter } from '../../mail/imap/letter-notify.ts';
import { createAccountMail } from '../../support/account-mail.ts';

const mail = await createAccountMail();
holdToTheLetter(mail);
holdExtensionsToTheLetter(mail);
holdMetadataToTheLetter(mail);
holdCatenationToTheLetter(mail);
holdContextsToTheLetter(mail);
holdNotifyToTheLetter(mail);
