//! The text of a page: what its content stream and the forms in it draw.

use std::collections::HashMap;
use std::rc::Rc;

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use super::budget::Budget;
use super::content::{Operand, Operators};
use super::fonts::Font;
use super::layout::{Layout, Place};
use super::matrix::Matrix;
use super::resources::Resources;
use crate::document::DocumentError;

/// How deep forms may be drawn within forms.
const MAX_FORMS: usize = 12;
/// How many graphics states may be kept at once; viewers promise 28 (ISO 32000-1, annex C).
const MAX_STATES: usize = 512;

/// What a page holds.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) text: String,
    pub(super) unknown: u64,
    pub(super) guessed: bool,
    pub(super) damaged: bool,
    pub(super) pictures: u64,
}

/// Reads pages; fonts are kept from one to the next.
pub(super) struct PageReader<'a> {
    document: &'a Document,
    budget: &'a Budget<'a>,
    /// By where their dictionary lies in memory.
    fonts: HashMap<usize, Rc<Font>>,
    missing: Rc<Font>,
}

/// The text state and the transformation (9.3.1).
#[derive(Debug, Clone)]
struct State {
    to_page: Matrix,
    font: Rc<Font>,
    size: f64,
    char_spacing: f64,
    word_spacing: f64,
    scale: f64,
    leading: f64,
    rise: f64,
}

/// A page that is being drawn.
struct Canvas {
    layout: Layout,
    page: Page,
    text: Matrix,
    line: Matrix,
}

impl<'a> PageReader<'a> {
    pub(super) fn new(document: &'a Document, budget: &'a Budget<'a>) -> Self {
        Self { document, budget, fonts: HashMap::new(), missing: Rc::new(Font::missing(document)) }
    }

    pub(super) fn read(&mut self, id: ObjectId) -> Result<Page, DocumentError> {
        let mut canvas = Canvas {
            layout: Layout::default(),
            page: Page::default(),
            text: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
        };
        if self.document.get_dictionary(id).is_err() {
            canvas.page.damaged = true;
            return Ok(canvas.page);
        }
        let mut content = Vec::new();
        for part in self.document.get_page_contents(id) {
            let data = match self.document.get_object(part).and_then(Object::as_stream) {
                Ok(stream) => self.budget.inflate(stream)?,
                Err(_) => None,
            };
            match data {
                // A token never goes on from one stream into the next (7.8.2).
                Some(data) => {
                    canvas.page.damaged |= !data.whole;
                    content.extend_from_slice(&data.content);
                    content.push(b'\n');
                }
                None => canvas.page.damaged = true,
            }
        }
        let state = State {
            to_page: Matrix::IDENTITY,
            font: Rc::clone(&self.missing),
            size: 0.0,
            char_spacing: 0.0,
            word_spacing: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        let resources = Resources::of_page(id, self.document);
        self.draw(&content, &resources, state, 0, &mut canvas)?;
        canvas.page.text = canvas.layout.text;
        Ok(canvas.page)
    }

    fn draw(
        &mut self,
        content: &[u8],
        resources: &Resources<'a>,
        state: State,
        depth: usize,
        canvas: &mut Canvas,
    ) -> Result<(), DocumentError> {
        let mut state = state;
        let mut states: Vec<State> = Vec::new();
        let mut operators = Operators::new(content);
        let mut operands = Vec::new();
        while let Some(operator) = operators.next(&mut operands) {
            self.budget.guard.step()?;
            match operator {
                b"q" if states.len() < MAX_STATES => states.push(state.clone()),
                b"Q" => state = states.pop().unwrap_or(state),
                b"cm" => {
                    if let Some(matrix) = matrix(&operands) {
                        state.to_page = matrix.then(state.to_page);
                    }
                }
                b"Tf" => {
                    state.size = number(&operands, 1);
                    state.font = match operands.first() {
                        Some(Operand::Name(name)) => self.font(name, resources)?,
                        _ => Rc::clone(&self.missing),
                    };
                }
                b"Tc" => state.char_spacing = number(&operands, 0),
                b"Tw" => state.word_spacing = number(&operands, 0),
                b"Tz" => state.scale = number(&operands, 0) / 100.0,
                b"TL" => state.leading = number(&operands, 0),
                b"Ts" => state.rise = number(&operands, 0),
                b"Do" => {
                    if let Some(Operand::Name(name)) = operands.first() {
                        self.draw_object(name, resources, &state, depth, canvas)?;
                    }
                }
                b"BI" => canvas.page.pictures += 1,
                _ => canvas.show_operator(operator, &operands, &mut state),
            }
        }
        Ok(())
    }

    fn draw_object(
        &mut self,
        name: &[u8],
        resources: &Resources<'a>,
        state: &State,
        depth: usize,
        canvas: &mut Canvas,
    ) -> Result<(), DocumentError> {
        let object = resources.find(b"XObject", name, self.document);
        let Some(stream) = object.and_then(|object| object.as_stream().ok()) else {
            canvas.page.damaged = true;
            return Ok(());
        };
        match stream.dict.get_deref(b"Subtype", self.document).and_then(Object::as_name) {
            Ok(b"Image") => canvas.page.pictures += 1,
            Ok(b"Form") if depth < MAX_FORMS => {
                return self.draw_form(stream, resources, state, depth, canvas);
            }
            _ => canvas.page.damaged = true,
        }
        Ok(())
    }

    fn draw_form(
        &mut self,
        form: &'a Stream,
        resources: &Resources<'a>,
        state: &State,
        depth: usize,
        canvas: &mut Canvas,
    ) -> Result<(), DocumentError> {
        let Some(data) = self.budget.inflate(form)? else {
            canvas.page.damaged = true;
            return Ok(());
        };
        canvas.page.damaged |= !data.whole;
        let own =
            form.dict.get_deref(b"Matrix", self.document).and_then(Object::as_array).ok().and_then(|items| {
                let numbers: Vec<f64> =
                    items.iter().filter_map(|item| item.as_float().ok().map(f64::from)).collect();
                numbers.try_into().ok().map(Matrix)
            });
        let mut inner = state.clone();
        inner.to_page = own.unwrap_or(Matrix::IDENTITY).then(state.to_page);
        let (text, line) = (canvas.text, canvas.line);
        let resources = Resources::of_form(&form.dict, resources, self.document);
        self.draw(&data.content, &resources, inner, depth + 1, canvas)?;
        (canvas.text, canvas.line) = (text, line);
        Ok(())
    }

    fn font(&mut self, name: &[u8], resources: &Resources<'a>) -> Result<Rc<Font>, DocumentError> {
        let found = resources.find(b"Font", name, self.document).and_then(|font| font.as_dict().ok());
        let Some(dictionary) = found else { return Ok(Rc::clone(&self.missing)) };
        let key = std::ptr::from_ref::<Dictionary>(dictionary).addr();
        if let Some(font) = self.fonts.get(&key) {
            return Ok(Rc::clone(font));
        }
        let font = Rc::new(Font::read(dictionary, self.document, self.budget)?);
        self.fonts.insert(key, Rc::clone(&font));
        Ok(font)
    }
}

impl Canvas {
    /// The operators of text objects (9.4).
    fn show_operator(&mut self, operator: &[u8], operands: &[Operand<'_>], state: &mut State) {
        match operator {
            b"BT" => (self.text, self.line) = (Matrix::IDENTITY, Matrix::IDENTITY),
            b"Td" => self.next_line(number(operands, 0), number(operands, 1)),
            b"TD" => {
                state.leading = -number(operands, 1);
                self.next_line(number(operands, 0), number(operands, 1));
            }
            b"Tm" => {
                if let Some(matrix) = matrix(operands) {
                    (self.text, self.line) = (matrix, matrix);
                }
            }
            b"T*" => self.next_line(0.0, -state.leading),
            b"Tj" => self.show(operands.first(), state),
            b"'" => {
                self.next_line(0.0, -state.leading);
                self.show(operands.first(), state);
            }
            b"\"" => {
                state.word_spacing = number(operands, 0);
                state.char_spacing = number(operands, 1);
                self.next_line(0.0, -state.leading);
                self.show(operands.get(2), state);
            }
            b"TJ" => {
                if let Some(Operand::Array(items)) = operands.first() {
                    for item in items {
                        match item {
                            Operand::Number(back) => {
                                let by = back / 1000.0 * state.size;
                                // Down a column, the number adds to the step; along a line, it takes from it (9.4.4).
                                self.advance(if state.font.vertical { by } else { -by }, state);
                            }
                            item => self.show(Some(item), state),
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.line = Matrix::shift(x, y).then(self.line);
        self.text = self.line;
    }

    fn advance(&mut self, by: f64, state: &State) {
        let shift =
            if state.font.vertical { Matrix::shift(0.0, -by) } else { Matrix::shift(by * state.scale, 0.0) };
        self.text = shift.then(self.text);
    }

    fn show(&mut self, operand: Option<&Operand<'_>>, state: &State) {
        let Some(Operand::Text(bytes)) = operand else { return };
        let mut piece = String::new();
        let shown = state.font.show(bytes, &mut piece);
        self.page.unknown += shown.unknown;
        self.page.guessed |= state.font.guessed && !piece.trim().is_empty();
        let before = self.placed(state);
        let spacing = shown.characters * state.char_spacing + shown.spaces * state.word_spacing;
        self.advance(shown.width / 1000.0 * state.size + spacing, state);
        let after = self.placed(state);
        let [a, b, c, d, ..] = before.0;
        let direction = if state.font.vertical { (-c, -d) } else { (a, b) };
        let length = direction.0.hypot(direction.1);
        let along = if length > 0.0 { (direction.0 / length, direction.1 / length) } else { (1.0, 0.0) };
        let [.., x, y] = before.0;
        let [.., to_x, to_y] = after.0;
        let size = (state.size * c.hypot(d)).abs();
        self.layout.push(&piece, Place { from: (x, y), to: (to_x, to_y), along, size });
    }

    fn placed(&self, state: &State) -> Matrix {
        Matrix::shift(0.0, state.rise).then(self.text).then(state.to_page)
    }
}

fn number(operands: &[Operand<'_>], at: usize) -> f64 {
    match operands.get(at) {
        Some(Operand::Number(number)) => *number,
        _ => 0.0,
    }
}

fn matrix(operands: &[Operand<'_>]) -> Option<Matrix> {
    let numbers: Vec<f64> = operands
        .iter()
        .map(|operand| match operand {
            Operand::Number(number) => *number,
            _ => 0.0,
        })
        .collect();
    numbers.try_into().ok().map(Matrix)
}
