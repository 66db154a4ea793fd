/** The part of the package qrcode that is used. */
declare module 'qrcode' {
  type Options = { type: 'terminal' | 'utf8'; small: boolean };
  function draw(text: string, options: Options): Promise<string>;

  export { draw as toString };
}
