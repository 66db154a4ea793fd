/** The page behind the link of a confirmation mail. It needs no script, and no style to be understood. */
import type { Confirmation } from '../audiences/contacts/confirm.ts';
import { Page } from '../http/pages/page.tsx';
import { confirmationTexts } from './confirmation-texts.ts';
import type { Language } from './language.ts';

/** Name of the field of the form, and its value. */
export const ACTION = 'action';
export const CONFIRM = 'confirm';

type PageProps = {
  language: Language;
  /** Path of the stylesheet. */
  stylesheet: string;
  /** Address of the reader, masked. */
  address: string;
  /** Name of the sender; undefined when the audience no longer has one. */
  sender: string | undefined;
  state: Confirmation;
};

/** Returns the page. It has one button while there is something to confirm, and none otherwise. */
export function ConfirmationPage(props: PageProps) {
  const { language, stylesheet } = props;
  const { title } = confirmationTexts(language);
  return (
    <Page title={title} lang={language} head={<link rel="stylesheet" href={stylesheet} />}>
      <main>
        <h1>{title}</h1>
        <State {...props} />
      </main>
    </Page>
  );
}

function State({ language, address, sender, state }: PageProps) {
  const texts = confirmationTexts(language);
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
