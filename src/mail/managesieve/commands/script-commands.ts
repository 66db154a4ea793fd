/** The commands about scripts (RFC 5804 sections 2.5 to 2.12). */
import { defineScriptCommand } from '../command.ts';
import { writeString } from '../respond.ts';
import { isRefusal } from '../session.ts';

export const haveSpace = defineScriptCommand({
  name: 'HAVESPACE',
  parameters: ['string', 'number'],
  run: (account, [name, sizeBytes]) => account.haveSpace(name, sizeBytes),
});

export const putScript = defineScriptCommand({
  name: 'PUTSCRIPT',
  parameters: ['string', 'string'],
  run: (account, [name, content]) => account.put(name, content),
});

export const checkScript = defineScriptCommand({
  name: 'CHECKSCRIPT',
  parameters: ['string'],
  run: (account, [content]) => account.check(content),
});

export const listScripts = defineScriptCommand({
  name: 'LISTSCRIPTS',
  parameters: [],
  async run(account, _args, { wire }) {
    const scripts = await account.list();
    if (isRefusal(scripts)) return scripts;
    for (const { name, isActive } of scripts)
      wire.send(`${writeString(name)}${isActive ? ' ACTIVE' : ''}\r\n`);
    return undefined;
  },
});

export const getScript = defineScriptCommand({
  name: 'GETSCRIPT',
  parameters: ['string'],
  async run(account, [name], { wire }) {
    const script = await account.get(name);
    if (isRefusal(script)) return script;
    wire.send(`{${Buffer.byteLength(script.content)}}\r\n${script.content}\r\n`);
    return undefined;
  },
});

export const setActive = defineScriptCommand({
  name: 'SETACTIVE',
  parameters: ['string'],
  run: (account, [name]) => account.setActive(name),
});

export const deleteScript = defineScriptCommand({
  name: 'DELETESCRIPT',
  parameters: ['string'],
  run: (account, [name]) => account.delete(name),
});

export const renameScript = defineScriptCommand({
  name: 'RENAMESCRIPT',
  parameters: ['string', 'string'],
  run: (account, [from, to]) => account.rename(from, to),
});
