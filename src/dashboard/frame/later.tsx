/** A part of a page that takes long to read, such as a count of a million contacts. The page arrives without it, and then asks for it. */
import type { ComponentChildren } from 'preact';
import type { BaseContext } from '../page.ts';

/** Name of the parameter that asks for the whole page. */
const WHOLE = 'whole';

/** Returns true when the whole page is asked for. A form that was refused stands in the whole page. */
export function isWhole({ query, failed }: Pick<BaseContext, 'query' | 'failed'>): boolean {
  return query.has(WHOLE) || failed !== undefined;
}

/** Shows its content in the whole page. Before, browsers without JavaScript have a link to it. */
export function Later({
  context,
  id,
  children,
}: {
  context: BaseContext;
  id: string;
  children: ComponentChildren;
}) {
  if (isWhole(context)) return <div id={id}>{children}</div>;
  const { path, query, texts } = context;
  const address = `${path}?${new URLSearchParams([...query, [WHOLE, '1']])}`;
  return (
    <div
      id={id}
      aria-live="polite"
      hx-get={address}
      hx-trigger="load"
      hx-select={`#${id}`}
      hx-swap="outerHTML"
    >
      <p>
        {texts.frame.counting} <a href={address}>{texts.frame.showAll}</a>
      </p>
    </div>
  );
}
