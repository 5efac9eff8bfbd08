/**
 * A plugin of typedoc's: a link in the comments of one entry finds a name that
 * another entry exports.
 *
 * @param {import('typedoc').Application} app
 */
export function load(app) {
  app.converter.addUnknownSymbolResolver(({ symbolReference }, { project }) => {
    const [name] = symbolReference?.path ?? []
    const target = project.children
      ?.flatMap(({ children = [] }) => children)
      .find((child) => child.name === name?.path)
    return target && { target }
  })
}
