/** The page behind the link of a confirmation mail. It needs no script, and no style to be understood. */
import type { Confirmation } from '../audiences/contacts/confirm.ts';
import type { Branding } from '../branding/store.ts';
import { confirmationTexts } from './confirmation-texts.ts';
import { isolate } from './isolate.ts';
import type { Language } from './language.ts';
import { PublicPage } from './public-page.tsx';

/** Name of the field of the form, and its value. */
export const ACTION = 'action';
export const CONFIRM = 'confirm';

type PageProps = {
  language: Language;
  branding: Branding;
  /** Address of the reader, masked. */
  address: string;
  /** Name of the sender; undefined when the audience no longer has one. */
  sender: string | undefined;
  state: Confirmation;
};

/** Returns the page. It has one button while there is something to confirm, and none otherwise. */
export function ConfirmationPage(props: PageProps) {
  const { language, branding } = props;
  return (
    <PublicPage language={language} branding={branding} title={confirmationTexts(language).title}>
      <State {...props} />
    </PublicPage>
  );
}

function State({ language, state, ...named }: PageProps) {
  const texts = confirmationTexts(language);
  const address = isolate(named.address);
  const sender = named.sender === undefined ? undefined : isolate(named.sender);
  switch (state) {
    case 'pending':
      return (
        <>
          <p>{sender === undefined ? texts.ask(address) : texts.askFor(sender, address)}</p>
          <form method="post">
            <button type="submit" name={ACTION} value={CONFIRM}>
              {texts.confirm}
            </button>
          </form>
          <p>
            <small>{texts.otherwise}</small>
          </p>
        </>
      );
    case 'confirmed':
      return <p>{texts.confirmed(address)}</p>;
    case 'gone':
      return (
        <>
          <p>{texts.gone}</p>
          <p>{texts.signUpAgain}</p>
        </>
      );
  }
}
