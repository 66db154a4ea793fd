/** Reads the forms of a page with the values that a browser would send. */
import { Parser } from 'htmlparser2';

export type ShownForm = {
  /** Address that the form is sent to. */
  target: string;
  values: URLSearchParams;
  /** Values that nobody can change, which say what the form is about. */
  hidden: URLSearchParams;
};

/** Returns the forms of a page, in their order. */
export function formsIn(html: string): ShownForm[] {
  const forms: ShownForm[] = [];
  let field: { name: string; text: string } | undefined;
  let select: { name: string; chosen: string | undefined; first: string | undefined } | undefined;
  const add = (name: string | undefined, value: string) => {
    if (name !== undefined) forms.at(-1)?.values.append(name, value);
  };
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const { name: named, value = '', type } = attributes;
        if (name === 'form') {
          const target = attributes['action'] ?? '';
          forms.push({ target, values: new URLSearchParams(), hidden: new URLSearchParams() });
        } else if (name === 'textarea' && named !== undefined) field = { name: named, text: '' };
        else if (name === 'select' && named !== undefined)
          select = { name: named, chosen: undefined, first: undefined };
        else if (name === 'option' && select) {
          select.first ??= attributes['value'];
          if ('selected' in attributes) select.chosen = attributes['value'];
        } else if (name === 'input') {
          const isChoice = type === 'checkbox' || type === 'radio';
          if (!isChoice || 'checked' in attributes) add(named, value);
          if (type === 'hidden' && named !== undefined) forms.at(-1)?.hidden.append(named, value);
        }
      },
      ontext(text) {
        if (field) field.text += text;
      },
      onclosetag(name) {
        if (name === 'textarea' && field) {
          add(field.name, textOf(field.text));
          field = undefined;
        } else if (name === 'select' && select) {
          add(select.name, select.chosen ?? select.first ?? '');
          select = undefined;
        }
      },
    },
    { decodeEntities: true },
  );
  parser.end(html);
  return forms;
}

/** Returns the text of a textarea, in which the parser decodes no entities: Preact writes these three. A first line end is left out. */
function textOf(source: string): string {
  const text = source.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  return text.replace(/^\n/, '');
}
