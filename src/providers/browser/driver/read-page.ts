/** The script that reads a document. It runs in an isolated world, but names in the document may still hide properties: the prototypes have the original ones. */
export function readExpression(maxChars: number): string {
  return `(() => {
  const of = (name) => Object.getOwnPropertyDescriptor(Document.prototype, name).get.call(document);
  const root = of('documentElement');
  const html = root === null ? '' : String(Object.getOwnPropertyDescriptor(Element.prototype, 'outerHTML').get.call(root));
  const title = String(of('title')).slice(0, 500);
  return { url: String(location.href).slice(0, 8192), title, html: html.slice(0, ${maxChars}), truncated: html.length > ${maxChars} };
})()`;
}
