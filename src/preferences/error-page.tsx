/** The page for links that lead nowhere, and for requests that were refused or have failed. Its sender is not known. */
import type { Failure } from '../http/pages/server.tsx';
import { type ErrorKind, errorTexts } from './error-texts.ts';
import { chooseLanguage } from './language.ts';
import { PublicPage } from './public-page.tsx';

/** Returns the page in the language of the reader. */
export function showError({ request, statusCode }: Failure) {
  const language = chooseLanguage(request.headers['accept-language']);
  const texts = errorTexts(language);
  const { title, message } = texts[kindOf(statusCode)];
  return (
    <PublicPage language={language} title={title}>
      <p>{message}</p>
      <p>
        <small>
          {texts.request} {request.id}
        </small>
      </p>
    </PublicPage>
  );
}

const KINDS: Readonly<Record<number, ErrorKind>> = {
  404: 'broken',
  405: 'broken',
  408: 'busy',
  429: 'busy',
  503: 'busy',
};

function kindOf(statusCode: number): ErrorKind {
  return KINDS[statusCode] ?? (statusCode < 500 ? 'unreadable' : 'failed');
}
