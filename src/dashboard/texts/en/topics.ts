/** Texts of the pages about topics. */
export const topics = {
  title: 'Topics',
  none: 'No topics yet. A topic is a kind of mail, such as product news, that readers can unsubscribe from without leaving everything.',
  name: 'Name',
  nameHelp: 'For your own use; readers do not see it.',
  description: 'Description',
  descriptionHelp: 'Readers see it on the page of their preferences.',
  defaultOptIn: 'Readers who made no choice receive this mail',
  isDefault: 'By default',
  created: 'Created',
  create: 'Create a topic',
  deletion: 'Delete the topic',
  deletionText:
    'The topic is deleted with the choices that readers made about it. Mail that was accepted before is still sent. Drafts of broadcasts that name it need another one.',
};
