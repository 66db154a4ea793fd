/** Texts of the page about the people who operate the installation. */
export const operators = {
  title: 'Operators',
  text: 'Operators see and steer the whole installation. A person that is removed here stays a member of its tenants, and is deleted if it has none.',
  name: 'Name',
  email: 'Email address',
  remove: 'Remove',
  invite: 'Make a link for another operator',
};
