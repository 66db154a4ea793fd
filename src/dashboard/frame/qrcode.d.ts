/** The part of the package qrcode that is used. It is a CommonJS module, whose exports a bundle has only as the default one. */
declare module 'qrcode' {
  type Options = { type: 'terminal' | 'utf8'; small: boolean };
  const qrcode: {
    toString(text: string, options: Options): Promise<string>;
    /** Returns an image as a URL with its content. `margin` is counted in modules. */
    toDataURL(text: string, options: { margin: number }): Promise<string>;
  };
  export = qrcode;
}
