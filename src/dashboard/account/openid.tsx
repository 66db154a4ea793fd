/** The provider of OpenID Connect on the page of a person, who goes there once before it lets the person in. */
import { OpenIdLink } from '../entry/openid-link.tsx';
import type { PersonContext } from '../page.ts';
import { hasAccountAt } from '../people/openid-store.ts';

/** The part of the page about the provider; nothing without one. */
export async function openIdSection(context: PersonContext) {
  const { app, person, texts } = context;
  const { openId } = app;
  if (!openId) return null;
  const isUsed = await hasAccountAt(app.db.read, person.id, app.config.openid.issuer);
  return (
    <section aria-labelledby="openid">
      <h2 id="openid">{texts.account.openId(openId.name)}</h2>
      <p>{isUsed ? texts.account.openIdIsUsed : texts.account.openIdIsUnused}</p>
      {!isUsed && <OpenIdLink context={context} to="/account" />}
    </section>
  );
}
