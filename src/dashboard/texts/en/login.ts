/** Texts of the pages before logging in. */
export const login = {
  title: 'Log in',
  email: 'Email address',
  password: 'Password',
  submit: 'Log in',
  mailbox: 'Log in to a mailbox instead',
  person: 'Log in to the dashboard instead',
  mailboxTitle: 'Log in to your mailbox',
  mailboxPassword: 'The password of the mailbox itself; app passwords are for mail programs.',
  lost: 'Lost your password? An owner of your tenant, or the operator, makes a link with which you set a new one.',
  setUpFirst:
    'Nobody operates this installation yet: open the link that Postrider has printed at its first start. “postrider person link” prints another one.',
  plain:
    'Logging in is possible over HTTPS only, because a password would cross the network in clear text. Open this page under https://, or on the machine itself.',
  openId: (provider: string) => `Continue with ${provider}`,
  openIdUnknown: (email: string) =>
    `Nobody here has the address ${email}. Ask for an invitation, and continue from its link.`,
  openIdUnproven: (email: string) =>
    `There is an account here with the address ${email}, and it has never been used with the provider. Log in with its password or a passkey, and go on at the provider from the page of your account; from then on the provider lets you in. If you did not choose that password, ask the operator for a link.`,
  openIdCanceled: 'The login at the provider was canceled. Nothing has changed; log in again when you like.',
  openIdRefused:
    'The login at the provider was not accepted: it took longer than ten minutes, was begun in another browser, or the provider has not verified your address. Log in again.',
  openIdUnavailable: 'The provider cannot be reached now. Log in with your password, or try again later.',
  codeTitle: 'One-time code',
  code: 'Code from your authenticator app, or a recovery code',
  codeSubmit: 'Continue',
  authenticatorTitle: 'Protect your account',
  authenticatorText:
    'With one-time codes of an authenticator app, nobody logs in who knows your password alone. Recovery codes come next, in case you lose the app.',
  authenticatorSubmit: 'Switch on and continue',
  authenticatorLaterText: 'You can switch one-time codes on later as well, on the page of your account.',
  authenticatorLater: 'Continue without',
  setUpTitle: 'Set up the dashboard',
  setUpText: 'You become the operator of this installation. The link works once.',
  invitationTitle: 'Accept the invitation',
  invitationText: (tenant: string) => `You are invited to ${tenant}. The link works once.`,
  operatorInvitation: 'You are invited to operate this installation. The link works once.',
  recoveryTitle: 'Set a new password',
  name: 'Your name',
  newPassword: 'New password (at least 8 characters)',
  linkSubmit: 'Continue',
  knownText:
    'Do you have an account here with this address? Then log in, and accept the invitation. The form below is for people who have none.',
  known: 'Log in and accept the invitation',
  acceptText: (email: string) => `You are logged in as ${email}, whom the invitation is for.`,
  otherPerson: (viewer: string, invited: string) =>
    `You are logged in as ${viewer}, and the invitation is for ${invited}. Log out, and open the link again.`,
  accept: 'Accept',
  wrongLink: 'The link does not work any more',
  wrongLinkText: 'Links work once, and for 30 minutes. Ask for another one.',
  newLink: 'The operator makes a new link with: postrider person link',
};
