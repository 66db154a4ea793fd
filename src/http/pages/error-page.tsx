/** The page that a refusal or a failure is shown as. */
import { Page } from './page.tsx';

type ErrorPageProps = { title: string; message: string; requestId: string };

/** Returns the page, which has neither scripts nor styles. */
export function ErrorPage({ title, message, requestId }: ErrorPageProps) {
  return (
    <Page title={title}>
      <main>
        <h1>{title}</h1>
        <p>{message}</p>
        <p>
          <small>Request {requestId}</small>
        </p>
      </main>
    </Page>
  );
}
