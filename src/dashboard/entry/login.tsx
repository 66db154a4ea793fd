/** The pages on which a person logs in: with the password, and with a one-time code when the person uses them. */
import { AppError } from '../../system/errors.ts';
import { Field, Form } from '../frame/forms.tsx';
import { type DashboardApp, definePage, fieldOf, type PublicContext } from '../page.ts';
import { startOf } from './start.ts';

export const loginPage = definePage({
  area: 'public',
  path: '/login',
  async show(context) {
    const { login } = context.texts;
    return {
      title: login.title,
      body: (
        <>
          <h1>{login.title}</h1>
          <Form context={context} action="login" submit={login.submit}>
            <Field
              context={context}
              action="login"
              name="email"
              label={login.email}
              type="email"
              isRequired
              autocomplete="username"
            />
            <Field
              context={context}
              action="login"
              name="password"
              label={login.password}
              type="password"
              isRequired
              autocomplete="current-password"
            />
          </Form>
          <p>
            <small>{login.lost}</small>
          </p>
          <p>
            <a href="/mailbox/login">{login.mailbox}</a>
          </p>
        </>
      ),
    };
  },
  actions: {
    login: {
      async run(context, form) {
        const { app, clientAddress, userAgent, setSession } = context;
        requireChannel(context);
        const email = fieldOf(form, 'email');
        const password = fieldOf(form, 'password');
        const { token, stage } = await app.people.logIn({ email, password, clientAddress, userAgent });
        setSession(token);
        const to = targetOf(context);
        if (stage === 'complete') return { to: await afterLogin(app, token, to) };
        return { to: to === undefined ? '/login/code' : `/login/code?to=${encodeURIComponent(to)}` };
      },
    },
  },
});

export const codePage = definePage({
  area: 'public',
  path: '/login/code',
  async show(context) {
    const { login } = context.texts;
    return {
      title: login.codeTitle,
      body: (
        <>
          <h1>{login.codeTitle}</h1>
          <Form context={context} action="code" submit={login.codeSubmit}>
            <Field
              context={context}
              action="code"
              name="code"
              label={login.code}
              isRequired
              autocomplete="one-time-code"
            />
          </Form>
        </>
      ),
    };
  },
  actions: {
    code: {
      async run(context, form) {
        const { app, sessionToken, setSession } = context;
        const session = sessionToken === undefined ? undefined : await app.people.find(sessionToken);
        if (!session) return { to: '/login' };
        const token = await app.people.enterCode(session, fieldOf(form, 'code'), context);
        setSession(token);
        return { to: await afterLogin(app, token, targetOf(context)) };
      },
    },
  },
});

/**
 * Refuses passwords over plain HTTP from elsewhere.
 * @throws AppError restricted_api_key
 */
export function requireChannel({ isPlain, texts }: Pick<PublicContext, 'isPlain' | 'texts'>): void {
  if (isPlain) throw new AppError('restricted_api_key', texts.login.plain);
}

/** Returns the page that somebody wanted before logging in. A path that could lead to another host is none of ours. */
export function targetOf({ query }: PublicContext): string | undefined {
  const to = query.get('to') ?? '';
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(to) && !to.includes('\\') ? to : undefined;
}

async function afterLogin(app: DashboardApp, token: string, to: string | undefined): Promise<string> {
  return to ?? (await startOf(app, token));
}
