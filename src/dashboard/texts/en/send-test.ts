/** Texts of the page that sends a test. */
export const sendTest = {
  title: 'Send a test',
  help: {
    live: 'The email is really delivered, unless its recipient is at the simulator.',
    test: 'Nothing is delivered: the simulator plays the part of the recipient.',
  },
  from: 'From',
  to: 'To',
  toHelp: (simulator: string) =>
    `Several addresses are separated by commas. Addresses at ${simulator} behave as their names say.`,
  subject: 'Subject',
  subjectValue: 'A test',
  template: 'Template',
  noTemplate: 'none: the HTML and the text below',
  variables: 'Variables',
  variablesHelp: 'One in each line, such as firstName=Ada.',
  html: 'HTML',
  htmlHelp: 'May be empty when there is a text.',
  text: 'Text',
  textValue: 'This email was sent from the dashboard.',
  send: 'Send',
};
