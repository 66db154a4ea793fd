/** Shows a new link, which is shown once and handed over by whoever has made it. */
import { Copyable, Heading } from '../frame/elements.tsx';
import { originOf } from '../origin.ts';
import type { Contexts } from '../page.ts';

/** Returns the answer of an action that has made a link. */
export function newLinkView(context: Contexts['operator'], { link, back }: { link: string; back: string }) {
  const { linkTitle, linkText } = context.texts.tenants;
  return {
    title: linkTitle,
    body: (
      <>
        <Heading title={linkTitle} />
        <p>{linkText}</p>
        <p>
          <Copyable context={context} text={originOf(context.app.config) + link} />
        </p>
        <p>
          <a href={context.path}>{back}</a>
        </p>
      </>
    ),
  };
}
