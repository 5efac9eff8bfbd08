export type Child = Node | string | undefined | false | readonly Child[]

type Attributes = Readonly<
  Record<string, string | boolean | ((event: Event) => void) | undefined>
>

/** Makes an element. A function is a listener of the event it is named after. */
export function h(
  tag: string,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElement {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes))
    if (typeof value === 'function') element.addEventListener(name, value)
    else if (value === true) element.setAttribute(name, '')
    else if (typeof value === 'string') element.setAttribute(name, value)
  append(element, children)
  return element
}

function append(element: HTMLElement, children: readonly Child[]): void {
  for (const child of children)
    if (Array.isArray(child)) append(element, child)
    else if (child) element.append(child as Node | string)
}

/** Replaces what a page shows. The focus stays on what has the same key. */
export function showParts(title: string, parts: readonly Child[]): void {
  const main = document.querySelector('main') as HTMLElement
  const status = document.querySelector('#status') as HTMLElement
  const { key } = (document.activeElement as HTMLElement | null)?.dataset ?? {}
  main.replaceChildren(
    ...parts.flat().filter((part): part is Node => part instanceof Node),
  )
  if (key)
    main.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus()
  if (status.textContent !== title) status.textContent = title
}
