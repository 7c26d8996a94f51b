/** The script that reads a document. It runs in a world of its own, but the document's names may still hide its properties: prototypes have the true ones. */
export function readExpression(maxChars: number): string {
  return `(() => {
  const of = (name) => Object.getOwnPropertyDescriptor(Document.prototype, name).get.call(document);
  const root = of('documentElement');
  const html = root === null ? '' : String(Object.getOwnPropertyDescriptor(Element.prototype, 'outerHTML').get.call(root));
  const title = String(of('title')).slice(0, 500);
  return { url: String(location.href).slice(0, 8192), title, html: html.slice(0, ${maxChars}), truncated: html.length > ${maxChars} };
})()`;
}
