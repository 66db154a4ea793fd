/**
 * These functions are the actions of the tests inside Thunderbird. Marionette evaluates this file once, in the main window. Functions that stand
 * for clicks use the same objects as the user interface; all others call what the menus call.
 */
/* global MailServices, Services, Ci, Cc, document, window */

const POLL_MS = 50;
const PATIENCE_MS = 20_000;

async function waitFor(what, look) {
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += POLL_MS) {
    const found = look();
    if (found) return found;
    await new Promise((resolve) => window.setTimeout(resolve, POLL_MS));
  }
  throw new Error(`waited in vain: ${what}`);
}

/** The password for the dialog that asks for it. */
let password = '';

/** Types the password if a dialog asks for it, has it remembered, and confirms every dialog. */
function confirmDialog(dialog) {
  const { args } = dialog.Dialog;
  if (args.promptType === 'promptPassword') {
    dialog.document.getElementById('password1Textbox').value = password;
    args.checked = true;
  }
  // The timers of the main window stand still while a dialog is open.
  dialog.setTimeout(() => dialog.document.querySelector('dialog').acceptDialog(), 0);
}
Services.obs.addObserver(confirmDialog, 'common-dialog-loaded');

const tabs = () => document.getElementById('tabmail');
const root = () => MailServices.accounts.accounts[0]?.incomingServer.rootFolder;
const onlineName = (folder) => folder.QueryInterface(Ci.nsIMsgImapMailFolder).onlineName;

function folderNamed(name) {
  return root().descendants.find((folder) => onlineName(folder) === name);
}

function messageIn(folder, subject) {
  const message = [...folder.messages].find(({ mime2DecodedSubject }) => mime2DecodedSubject === subject);
  if (message === undefined) throw new Error(`${folder.name} has no message "${subject}"`);
  return message;
}

function fill(form, values) {
  for (const [id, value] of Object.entries(values)) {
    const field = form.querySelector(`#${id}`);
    field.value = value;
    for (const type of ['input', 'change']) field.dispatchEvent(new window.Event(type, { bubbles: true }));
  }
}

/** Resolves when the copy that `start` begins has ended. */
function copied(start) {
  return new Promise((resolve, reject) => {
    start({
      onStartCopy() {},
      onProgress() {},
      setMessageKey() {},
      getMessageId: () => null,
      onStopCopy: (status) => (status === 0 ? resolve() : reject(new Error(`the copy failed: ${status}`))),
    });
  });
}

globalThis.commands = {
  /** Fills in the pages of the Account Hub, as README.md describes it. The account exists some moments later. */
  async addAccount({ address, host, port, secret }) {
    password = secret;
    await window.openAccountHub('MAIL');
    const hub = await waitFor('the Account Hub', () => {
      const container = document.querySelector('account-hub-container');
      return (container?.shadowRoot ?? container)?.querySelector('account-hub-email');
    });
    const configureManually = await waitFor('the first page', () =>
      hub.querySelector('#manualConfiguration'),
    );
    fill(hub, { realName: 'Reader', email: address });
    configureManually.click();
    const page = await waitFor('the page of the incoming server', () =>
      hub.querySelector('#emailIncomingConfigSubview:not([hidden]):has(#incomingHostname)'),
    );
    fill(page, {
      incomingHostname: host,
      incomingConnectionSecurity: Ci.nsMsgSocketType.SSL,
      incomingPort: port,
      incomingAuthMethod: Ci.nsMsgAuthMethod.passwordCleartext,
    });
    // A dialog asks for confirmation. Marionette abandons the functions that run when a dialog opens, so this one has returned by then.
    window.setTimeout(() => page.querySelector('#advancedConfigurationIncoming').click(), 0);
  },

  /** Trusts a certificate at these ports of a host, as a person does in a dialog. */
  trustCertificate({ pem, host, ports }) {
    const certificates = Cc['@mozilla.org/security/x509certdb;1'].getService(Ci.nsIX509CertDB);
    const overrides = Cc['@mozilla.org/security/certoverride;1'].getService(Ci.nsICertOverrideService);
    const certificate = certificates.constructX509FromBase64(pem.replace(/-----[^-]+-----|\s/g, ''));
    for (const port of ports) overrides.rememberValidityOverride(host, port, {}, certificate, false);
  },

  /** Fills in name, address and password in the Account Hub, and presses "Continue" on each page, until the account exists. */
  async addAccountByAddress({ address, secret }) {
    await window.openAccountHub('MAIL');
    const hub = await waitFor('the Account Hub', () => {
      const container = document.querySelector('account-hub-container');
      return (container?.shadowRoot ?? container)?.querySelector('account-hub-email');
    });
    const next = async () => {
      const button = await waitFor('the button', () =>
        hub.querySelector('#forward:not([hidden]):not([disabled])'),
      );
      button.click();
    };
    const page = (id, field) =>
      waitFor(id, () =>
        hub.querySelector(`#${id}:not([hidden])${field === undefined ? '' : `:has(${field})`}`),
      );
    fill(await page('emailAutoConfigSubview', '#email'), { realName: 'Reader', email: address });
    await next();
    const found = await page('emailConfigFoundSubview');
    const shown = await waitFor('the settings that were found', () => found.textContent.trim() || undefined);
    await next();
    fill(await page('emailPasswordSubview', '#password'), { password: secret });
    await next();
    return shown;
  },

  /** Returns the servers of the account. */
  servers() {
    const { server } = root();
    const sending = MailServices.outgoingServer.defaultServer;
    const { hostname, port } = sending.QueryInterface(Ci.nsISmtpServer);
    return {
      incoming: [server.type, server.hostname, server.port, server.username],
      outgoing: [hostname, port, sending.username],
    };
  },

  /** Sends a message with the default identity, and resolves when the server has taken it and its copy is saved. */
  send({ to, subject, text }) {
    const fields = Cc['@mozilla.org/messengercompose/composefields;1'].createInstance(Ci.nsIMsgCompFields);
    const { defaultIdentity: identity } = MailServices.accounts.accounts[0];
    fields.to = to;
    fields.subject = subject;
    fields.body = text;
    fields.from = identity.email;
    const params = Cc['@mozilla.org/messengercompose/composeparams;1'].createInstance(Ci.nsIMsgComposeParams);
    params.identity = identity;
    params.composeFields = fields;
    params.format = Ci.nsIMsgCompFormat.PlainText;
    const compose = MailServices.compose.initCompose(params);
    return new Promise((resolve, reject) => {
      compose.addMsgSendListener({
        onStartSending() {},
        onSendProgress() {},
        onProgress() {},
        onStatus() {},
        onSendNotPerformed() {},
        onGetDraftFolderURI() {},
        onTransportSecurityError() {},
        onStopSending: (_id, status, message) =>
          status === 0 ? resolve() : reject(new Error(`the message was not sent: ${status} ${message}`)),
      });
      compose.sendMsg(Ci.nsIMsgCompDeliverMode.Now, identity, null, null, null).catch(reject);
    });
  },

  hasAccount: () => root() !== undefined,

  /** Presses "Test connection to server", "Add Exception" and "Confirm Security Exception" in the account settings. */
  async acceptCertificate() {
    const check = await waitFor('the account settings', () => {
      const settings = tabs().currentTabInfo.browser?.contentDocument?.getElementById('contentFrame');
      const found = settings?.contentDocument?.getElementById('certCheck');
      return Number(found?.port) === root()?.server.port ? found : undefined;
    });
    const button = (name) => waitFor(name, () => (check[name]?.hidden === false ? check[name] : undefined));
    (await button('fetchButton')).click();
    (await button('addExceptionButton')).click();
    const confirm = await waitFor('the dialog of the exception', () => {
      const dialog = [...Services.wm.getEnumerator(null)].find(
        ({ document: { documentURI, readyState } }) =>
          documentURI.endsWith('/exceptionDialog.xhtml') && readyState === 'complete',
      );
      const found = dialog?.document.querySelector('dialog').getButton('extra1');
      return found?.disabled === false ? found : undefined;
    });
    confirm.click();
    await button('removeExceptionButton');
  },

  /** Returns the purposes of the folders, by name. */
  folders() {
    const { Inbox, Drafts, SentMail, Junk, Trash, Archive } = Ci.nsMsgFolderFlags;
    const purposes = Object.entries({ Inbox, Drafts, SentMail, Junk, Trash, Archive });
    return Object.fromEntries(
      root().descendants.map((folder) => [
        onlineName(folder),
        purposes.find(([, flag]) => folder.getFlag(flag))?.[0] ?? '',
      ]),
    );
  },

  /** Shows a folder in the main window, as a click on its name does. */
  async openFolder(name) {
    tabs().switchToTab(0);
    const pane = await waitFor('the main tab', () => tabs().currentAbout3Pane);
    const folder = await waitFor(`the folder ${name}`, () => folderNamed(name));
    pane.displayFolder(folder.URI);
  },

  /** Returns the subjects in the list of messages, sorted. */
  listedMessages() {
    const view = tabs().currentAbout3Pane.gDBView;
    return Array.from(
      { length: view?.rowCount ?? 0 },
      (_, row) => view.getMsgHdrAt(row).mime2DecodedSubject,
    ).sort();
  },

  /** Selects a message in the list, and returns the text that is displayed then. */
  openMessage(subject) {
    const { gDBView: view, threadTree, messageBrowser } = tabs().currentAbout3Pane;
    const rows = Array.from({ length: view.rowCount }, (_, row) => view.getMsgHdrAt(row).mime2DecodedSubject);
    threadTree.selectedIndex = rows.indexOf(subject);
    return waitFor(`the text of ${subject}`, () => {
      const text = messageBrowser.contentWindow?.getMessagePaneBrowser().contentDocument?.body?.textContent;
      return text?.includes(subject) ? text.trim() : undefined;
    });
  },

  /** Searches on the server, and returns the subjects that were found, sorted. `attribute` names what is searched. */
  search(name, attribute, text) {
    const session = Cc['@mozilla.org/messenger/searchSession;1'].createInstance(Ci.nsIMsgSearchSession);
    session.addScopeTerm(Ci.nsMsgSearchScope.onlineMail, folderNamed(name));
    const term = session.createTerm();
    term.attrib = Ci.nsMsgSearchAttrib[attribute];
    term.op = Ci.nsMsgSearchOp.Contains;
    const { value } = term;
    value.attrib = term.attrib;
    value.str = text;
    term.value = value;
    session.appendTerm(term);
    const found = [];
    return new Promise((resolve, reject) => {
      session.registerListener({
        onNewSearch() {},
        onSearchHit: ({ mime2DecodedSubject }) => found.push(mime2DecodedSubject),
        onSearchDone: (status) =>
          status === 0 ? resolve(found.sort()) : reject(new Error(`the search failed: ${status}`)),
      });
      session.search(window.msgWindow);
    });
  },

  /** Marks a message as read, starred, answered, and with a tag. */
  mark(name, subject, tag) {
    const folder = folderNamed(name);
    const message = messageIn(folder, subject);
    folder.markMessagesRead([message], true);
    folder.markMessagesFlagged([message], true);
    folder.addMessageDispositionState(message, Ci.nsIMsgFolder.nsMsgDispositionState_Replied);
    folder.addKeywordsToMessages([message], tag);
  },

  /** Returns what Thunderbird knows of the messages of a folder, by subject. */
  marks: (name) =>
    Object.fromEntries(
      [...folderNamed(name).messages].map((message) => [
        message.mime2DecodedSubject,
        { isRead: message.isRead, isFlagged: message.isFlagged, tags: message.getStringProperty('keywords') },
      ]),
    ),

  transfer(subject, { from, to, isMove }) {
    const source = folderNamed(from);
    const messages = [messageIn(source, subject)];
    return copied((listener) =>
      MailServices.copy.copyMessages(
        source,
        messages,
        folderNamed(to),
        isMove,
        listener,
        window.msgWindow,
        true,
      ),
    );
  },

  /** Deletes a message as the Delete key does. */
  remove(name, subject) {
    const folder = folderNamed(name);
    const messages = [messageIn(folder, subject)];
    return copied((listener) =>
      folder.deleteMessages(messages, window.msgWindow, false, false, listener, true),
    );
  },

  createFolder(name) {
    root().createSubfolder(name, window.msgWindow);
  },

  renameFolder(name, newName) {
    folderNamed(name).rename(newName, window.msgWindow);
  },

  /** Deletes a folder, which moves it into the trash. */
  deleteFolder(name) {
    // A dialog asks for confirmation, and this function must have returned by then.
    window.setTimeout(() => folderNamed(name).deleteSelf(window.msgWindow), 0);
  },

  /** Deletes everything in the trash. */
  emptyTrash() {
    const trash = root().getFolderWithFlags(Ci.nsMsgFolderFlags.Trash);
    window.setTimeout(() => trash.emptyTrash(null), 0);
  },

  /** Saves a file in a folder as a draft or a message that was sent. */
  append(name, path, isDraft) {
    const file = Cc['@mozilla.org/file/local;1'].createInstance(Ci.nsIFile);
    file.initWithPath(path);
    const flags = isDraft ? 0 : Ci.nsMsgMessageFlags.Read;
    return copied((listener) =>
      MailServices.copy.copyFileMessage(
        file,
        folderNamed(name),
        null,
        isDraft,
        flags,
        '',
        listener,
        window.msgWindow,
      ),
    );
  },
};
