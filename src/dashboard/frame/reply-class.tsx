/** The class of a reply: what it means in the language of the page, with the name that the API has for it. */
import type { BaseContext } from '../page.ts';
import type { Texts } from '../texts/texts.ts';

/** Returns what a class means; its name when no text says so. */
export function meaningOf({ email: { meanings } }: Pick<Texts, 'email'>, name: string): string {
  return Object.hasOwn(meanings, name) ? meanings[name as keyof typeof meanings] : name;
}

export function ReplyClass({ context, name }: { context: Pick<BaseContext, 'texts'>; name: string | null }) {
  if (name === null) return null;
  return (
    <>
      {meaningOf(context.texts, name)} <code>{name}</code>
    </>
  );
}
