/** Texts about passkeys, before and after logging in. */
export const passkeys = {
  title: 'Passkeys',
  caption: 'Passkeys that log you in',
  text: 'A passkey of your device, or a security key, logs you in without a password, or takes the place of a one-time code.',
  needScript: 'Passkeys need JavaScript.',
  needName:
    'Passkeys belong to the name of a host. Open this page under a name instead of an address, such as localhost.',
  name: 'Name of the passkey',
  nameHelp: 'To tell it from others, such as “work laptop”',
  add: 'Add a passkey',
  change: 'Change',
  remove: 'Remove',
  removeText: 'It no longer logs anybody in, and all other sessions end. Delete it on your device too.',
  use: 'Use a passkey',
  instead: 'Or without a code',
  enter: 'Continue with a passkey',
  enterText: 'Or choose no password, and log in with a passkey of this device or with a security key.',
  failed: 'The browser has returned no passkey. Try again, or log in otherwise.',
  first: 'First passkey',
};
