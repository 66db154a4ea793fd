/** The HTML of the API reference, without its content: the script of the page reads the OpenAPI document. */
import { Page } from './page.tsx';

/** `folder` is relative, so that a proxy may put a prefix before all paths. */
type ShellProps = { title: string; folder: string };

/** Returns the page that loads the stylesheet and the scripts from `folder`. */
export function ReferenceShell({ title, folder }: ShellProps) {
  return (
    <Page
      title={title}
      head={
        <>
          <link rel="stylesheet" href={`${folder}/swagger-ui.css`} />
          <link rel="icon" type="image/png" href={`${folder}/favicon-32x32.png`} />
        </>
      }
    >
      <div id="reference" />
      <script src={`${folder}/swagger-ui-bundle.js`} />
      <script src={`${folder}/start.js`} />
    </Page>
  );
}
