/** Messages that a page shows after an action has led to it. */
export const said = {
  saved: 'Saved.',
  created: 'Created.',
  deleted: 'Deleted.',
  ended: 'The session has ended.',
  loggedOut: 'You are logged out.',
  passwordChanged: 'The password has changed, and all other sessions have ended.',
  totpOn: 'One-time codes are on.',
  totpOff: 'One-time codes are off.',
  invited: 'The invitation is ready.',
  withdrawn: 'The invitation is withdrawn.',
  importBegun: 'The import has begun.',
  replayed: 'The posts are made again.',
  revoked: 'The app password is revoked.',
  removed: 'The person is no member any more.',
  canceled: 'The recipients that waited are canceled.',
  sent: 'Accepted. Reload the page to see what becomes of it.',
  resent: 'Sent again: this is the new email.',
  queueChanged: 'The action is stored. It goes through the mail now.',
};
export type Said = keyof typeof said;
