/** The link to the provider of OpenID Connect, when there is one. */
import type { BaseContext } from '../page.ts';

type Props = {
  context: BaseContext;
  /** Page that was wanted before logging in. */
  to?: string | undefined;
  /** Token of the invitation that the login accepts. */
  invitation?: string | undefined;
};

/** The link. A form would not do: the policy of the pages lets none of them lead to another host. */
export function OpenIdLink({ context, to, invitation }: Props) {
  const { app, texts } = context;
  if (!app.openId) return null;
  const query = new URLSearchParams({
    ...(to !== undefined && { to }),
    ...(invitation !== undefined && { invitation }),
  });
  return (
    <p>
      <a href={`/login/openid?${query}`}>{texts.login.openId(app.openId.name)}</a>
    </p>
  );
}
